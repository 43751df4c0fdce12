// How the app's JavaScript is checked: ESLint's recommended rules, and what keeps text from becoming markup or code.

import js from '@eslint/js';
import globals from 'globals';

export default [
  { ignores: ['.venv/**', 'node_modules/**', 'assay-home/**'] },
  js.configs.recommended,
  {
    files: ['**/*.js'],
    languageOptions: { ecmaVersion: 2023, sourceType: 'module', globals: globals.browser },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      'consistent-return': 'error',
      curly: ['error', 'multi-line'],
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-console': ['error', { allow: ['warn', 'error'] }],
      'no-eval': 'error',
      'no-implied-eval': 'error',
      'no-restricted-properties': [
        'error',
        { property: 'innerHTML', message: 'Text from data goes in by textContent.' },
        { property: 'outerHTML', message: 'Text from data goes in by textContent.' },
        { property: 'insertAdjacentHTML', message: 'Text from data goes in by textContent.' },
      ],
      'no-shadow': ['error', { ignoreOnInitialization: true }], // `const unit = units.find((unit) => …)` is plain
      'no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      'no-var': 'error',
      'prefer-const': 'error',
    },
  },
  { files: ['tests/js/**/*.js', 'tests/**/*.mjs'], languageOptions: { globals: globals.node }, rules: { 'no-console': 'off' } },
];
