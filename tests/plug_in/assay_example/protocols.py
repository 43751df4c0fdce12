"""A protocol: is the answer polite?"""

from annotators.criteria import Label
from annotators.criteria.choice import Choice
from annotators.criteria.material import Material
from annotators.protocols import PROTOCOLS, Protocol, Step

POLITE = PROTOCOLS.register(
    Protocol(
        name="politeness",
        title="Politeness",
        summary="Is the answer polite?",
        guidelines="Say whether somebody who asked politely would find the answer **polite**.",
        criteria=[Choice(name="polite", title="Polite", labels=[Label(value="polite"), Label(value="rude")])],
        steps=[Step(name="all", title="All", shows=[Material.QUESTION, Material.ANSWER], criteria=["polite"])],
        overlap=2,
    )
)
