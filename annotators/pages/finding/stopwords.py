"""Words that say nothing about what a text is about, in the languages that answers are most often written in.

English; French, Spanish, Portuguese, Italian; German, Dutch; Russian; Arabic as it is written without vowel signs.
"""

from __future__ import annotations

_TEXT = """
a about above after again against all also am an and any are as at be because been before being below between  both
but by can could did do does doing down during each few for from further had has have having he her here  hers him his
how however i if in into is it its itself just may me might more most must my no nor not now of off  on once one only
or other our out over own per same she should so some such than that the their them then there  these they this those
through to too two under until up upon us very was we were what when where which while who  whom why will with within
without would yes yet you your answer based according page document shown given
au aux avec ce ces cette dans de des du elle en est et il ils je la le les leur ne nous ou où par pas plus pour  que
qui sa se ses son sont sur un une vous y al como con cual cuando del el ella ellos era es esta este esto fue  ha han
hay las lo los más muy o para pero por según ser si sin sobre su sus también tiene todo una unos ao aos  as com da das
do dos ele eles em entre foi isso mais mas na nas no nos não os pela pelo quando quem são também  um uma che chi ci
col come con cui dal dalla degli dei del della delle di e gli ho i il lei loro ma ne nel nella  nelle non per perché
più quale quella quello questo si sono stato sul sulla tra uno
aber als am an auch auf aus bei bis das dass dem den der des die durch ein eine einem einen einer eines er es für  hat
haben im in ist kann mit nach nicht noch nur oder sein sich sie sind so über um und unter von vor war waren  was wenn
werden wie wird wir zu zum zur aan bij dan dat de deze door een en het hij ik in is met naar niet of om  ook op te tot
uit van voor was wat werd worden zijn
а без был была были было быть в вы для до его ее если есть за и из или им их к как ко которые который мы на не  него
нет но о об он она они от по при с со так также то только у уже что чтобы это эта эти этот
في من على الى إلى عن مع هذا هذه ذلك تلك التي الذي الذين هو هي هم كان كانت قد لا ما لم لن ان أن إن او أو ثم بين  كل بعد
قبل عند كما حتى و
"""

STOPWORDS = frozenset(_TEXT.split())
