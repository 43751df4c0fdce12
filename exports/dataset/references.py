"""References of statistics: what each figure of a report is from, listed only where it is used."""

from __future__ import annotations

from collections.abc import Iterable

_WORKS = {
    "fleiss1971": "Fleiss, J. L. (1971). Measuring nominal scale agreement among many raters. Psychological Bulletin "
    "76, 378–382.",
    "cicchetti1990": "Cicchetti, D. V., and Feinstein, A. R. (1990). High agreement but low kappa: II. Journal of "
    "Clinical Epidemiology 43, 551–558.",
    "cohen1960": "Cohen, J. (1960). A coefficient of agreement for nominal scales. Educational and Psychological "
    "Measurement 20, 37–46.",
    "cohen1968": "Cohen, J. (1968). Weighted kappa. Psychological Bulletin 70, 213–220.",
    "light1971": "Light, R. J. (1971). Measures of response agreement for qualitative data. Psychological Bulletin 76, "
    "365–377.",
    "scott1955": "Scott, W. A. (1955). Reliability of content analysis. Public Opinion Quarterly 19, 321–325.",
    "conger1980": "Conger, A. J. (1980). Integration and generalization of kappas for multiple raters. Psychological "
    "Bulletin 88, 322–328.",
    "krippendorff2011": "Krippendorff, K. (2011). Computing Krippendorff's alpha-reliability. University of "
    "Pennsylvania.",
    "krippendorff2016": "Krippendorff, K., Mathet, Y., Bouvry, S., and Widlöcher, A. (2016). On the reliability of "
    "unitizing textual continua. Quality & Quantity 50, 2347–2364.",
    "passonneau2006": "Passonneau, R. (2006). Measuring agreement on set-valued items (MASI). LREC, 831–836.",
    "gwet2008": "Gwet, K. L. (2008). Computing inter-rater reliability and its variance in the presence of high "
    "agreement. British Journal of Mathematical and Statistical Psychology 61, 29–48.",
    "gwet2014": "Gwet, K. L. (2014). Handbook of Inter-Rater Reliability, 4th edition.",
    "brennan1981": "Brennan, R. L., and Prediger, D. J. (1981). Coefficient kappa: some uses, misuses, and "
    "alternatives. Educational and Psychological Measurement 41, 687–699.",
    "shrout1979": "Shrout, P. E., and Fleiss, J. L. (1979). Intraclass correlations. Psychological Bulletin 86, "
    "420–428.",
    "mcgraw1996": "McGraw, K. O., and Wong, S. P. (1996). Forming inferences about some intraclass correlation "
    "coefficients. Psychological Methods 1, 30–46.",
    "jaccard1912": "Jaccard, P. (1912). The distribution of the flora in the alpine zone. New Phytologist 11, 37–50.",
    "kendall1939": "Kendall, M. G., and Babington Smith, B. (1939). The problem of m rankings. Annals of Mathematical "
    "Statistics 10, 275–287.",
    "kendall1945": "Kendall, M. G. (1945). The treatment of ties in ranking problems. Biometrika 33, 239–251.",
    "spearman1904": "Spearman, C. (1904). The proof and measurement of association between two things. American "
    "Journal of Psychology 15, 72–101.",
    "pearson1896": "Pearson, K. (1896). Regression, heredity and panmixia. Philosophical Transactions A 187, 253–318.",
    "hripcsak2005": "Hripcsak, G., and Rothschild, A. S. (2005). Agreement, the F-measure, and reliability in "
    "information retrieval. JAMIA 12, 296–298.",
    "hanley1982": "Hanley, J. A., and McNeil, B. J. (1982). The meaning and use of the area under a ROC curve. "
    "Radiology 143, 29–36.",
    "williams1959": "Williams, E. J. (1959). The comparison of regression variables. Journal of the Royal Statistical "
    "Society B 21, 396–399.",
    "steiger1980": "Steiger, J. H. (1980). Tests for comparing elements of a correlation matrix. Psychological "
    "Bulletin 87, 245–251.",
    "naeini2015": "Naeini, M. P., Cooper, G., and Hauskrecht, M. (2015). Obtaining well calibrated probabilities using "
    "Bayesian binning. AAAI.",
    "kocmi2021": "Kocmi, T., et al. (2021). To ship or not to ship: an extensive evaluation of automatic metrics for "
    "machine translation. WMT.",
    "deutsch2023": "Deutsch, D., Foster, G., and Freitag, M. (2023). Ties matter: meta-evaluating modern metrics with "
    "pairwise accuracy and tie calibration. EMNLP.",
    "lin1989": "Lin, L. I.-K. (1989). A concordance correlation coefficient to evaluate reproducibility. Biometrics "
    "45, 255–268.",
    "bland1986": "Bland, J. M., and Altman, D. G. (1986). Statistical methods for assessing agreement between two "
    "methods of clinical measurement. Lancet 327, 307–310.",
    "calderon2025": "Calderon, N., Reichart, R., and Dror, R. (2025). The alternative annotator test for "
    "LLM-as-a-judge. ACL.",
    "angelopoulos2023": "Angelopoulos, A. N., et al. (2023). Prediction-powered inference. Science 382, 669–674.",
    "angelopoulos2023b": "Angelopoulos, A. N., Duchi, J. C., and Zrnic, T. (2023). PPI++. arXiv:2311.01453.",
    "fathoms": "FATHOMS-RAG, section IV.D: mean agreement of people with automatic scores.",
    "efron1987": "Efron, B. (1987). Better bootstrap confidence intervals. Journal of the American Statistical "
    "Association 82, 171–185.",
    "wilson1927": "Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference. Journal "
    "of the American Statistical Association 22, 209–212.",
    "gebru2021": "Gebru, T., et al. (2021). Datasheets for datasets. Communications of the ACM 64(12), 86–92.",
    "krippendorff2004": "Krippendorff, K. (2004). Content Analysis, 2nd edition, p. 241.",
}

USED = {
    "percent_agreement": ("fleiss1971",),
    "specific_agreement": ("cicchetti1990",),
    "cohen_kappa": ("cohen1960",),
    "cohen_kappa_linear": ("cohen1968",),
    "cohen_kappa_quadratic": ("cohen1968",),
    "cohen_kappa_weighted": ("cohen1968",),
    "light_kappa": ("light1971",),
    "scott_pi": ("scott1955",),
    "fleiss_kappa": ("fleiss1971",),
    "conger_kappa": ("conger1980",),
    "krippendorff_alpha_unitizing": ("krippendorff2016",),
    "krippendorff_alpha_masi": ("krippendorff2011", "passonneau2006"),
    "krippendorff_alpha": ("krippendorff2011",),
    "gwet_ac1": ("gwet2008",),
    "gwet_ac2": ("gwet2014",),
    "brennan_prediger": ("brennan1981",),
    "icc_": ("shrout1979", "mcgraw1996"),
    "mean_jaccard": ("jaccard1912",),
    "pairwise_f1": ("hripcsak2005",),
    "kendall_w": ("kendall1939",),
    "kendall": ("kendall1945",),
    "mean_spearman": ("spearman1904",),
    "spearman": ("spearman1904",),
    "pearson": ("pearson1896",),
    "auroc": ("hanley1982",),
    "williams_t": ("williams1959",),
    "steiger_z": ("steiger1980",),
    "calibration_error": ("naeini2015",),
    "system_": ("kocmi2021",),
    "pairwise_accuracy": ("kocmi2021",),
    "tie_calibrated_accuracy": ("deutsch2023",),
    "concordance": ("lin1989",),
    "mean_difference": ("bland1986",),
    "lower_limit_of_agreement": ("bland1986",),
    "upper_limit_of_agreement": ("bland1986",),
    "alt_test": ("calderon2025",),
    "ppi_plus_plus": ("angelopoulos2023b",),
    "ppi_": ("angelopoulos2023",),
    "mean_agreement": ("fathoms",),
    "macro_mean_agreement": ("fathoms",),
}
"""How names of statistics begin → where they are from; the longest beginning that fits is the one."""

ALWAYS = ("gebru2021",)
"""The datasheet."""

OF_FIGURES = ("efron1987", "krippendorff2004", "wilson1927")
"""Intervals, and the bound below which agreement is remarked on."""


def references(statistics: Iterable[str]) -> list[str]:
    """The works behind these statistics and what every report uses, in the order of their authors."""
    names = set(statistics)
    keys = {*ALWAYS, *(OF_FIGURES if names else ())}
    for name in names:
        fitting = [beginning for beginning in USED if name.startswith(beginning)]
        if fitting:
            keys.update(USED[max(fitting, key=len)])
    return [_WORKS[key] for key in sorted(keys, key=lambda key: _WORKS[key])]
