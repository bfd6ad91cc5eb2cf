"""Generated cases for `test_oracle_core`: texts and manifests, the same for the same seed."""

from __future__ import annotations

import random
from typing import Any

Json = dict[str, Any]

SUFFIXES = (
    *("", "n", "u", "m", "k", "M", "G", "T", "P", "E"),
    *("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"),
    *("e3", "E3", "e-3", "e+6", "e0", "e03", "e12", "e-9", "e-12", "e1", "e20"),
)
WRONG_SUFFIXES = ("K", "i", "mi", "Zi", "e", "ee3", "e3.5", "+3", "e99999999999999999999", "x")
ODD_TEXTS = (
    *("+", "-", ".", "Ki", "m", "e5", "Ei", ".Pi", "", "0", "00", "-0", "+0", "1.", ".5", "007"),
    *("1.500", "1.001k", "+1Ki", "8Ki", "1024", "1024Ki", "1.5Gi", "0.1Ki", "8Ei", "7Ei", "100E"),
    *("1000E", "0.1n", "1.0000000001", "1 k", " 5 ", "1_0", "0x1", "١", "1,5", "--1", "true"),
)
KEYS = ("a", "b", "c", "example.com/d")
VALUES = ("", "x", "y", "1", "2", "10")
OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")


class Cases:
    """Draws cases from one seeded source of chance."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def quantity(self) -> str:
        chance = self.chance
        text = self._digits(chance.choice((1, 2, 4, 8, 15, 18, 20, 30)))
        if chance.random() < 0.5:
            text += "." + self._digits(chance.choice((0, 1, 3, 6, 9, 12)))
        wrong = chance.random() < 0.1
        sign = chance.choice(("", "", "", "", "+", "-"))
        return sign + text + chance.choice(WRONG_SUFFIXES if wrong else SUFFIXES)

    def _digits(self, most: int) -> str:
        count = self.chance.randint(0, most)
        return "".join(self.chance.choice("00012345678") for _ in range(count))

    def labels(self) -> dict[str, str]:
        return {key: self.chance.choice(VALUES) for key in KEYS if self.chance.random() < 0.6}

    def expression(self, operators: tuple[str, ...] = OPERATORS) -> Json:
        """A sound requirement over labels."""
        operator = self.chance.choice(operators)
        count = {"In": 2, "NotIn": 2, "Gt": 1, "Lt": 1}.get(operator, 0)
        numeric = operator in ("Gt", "Lt")
        values = [self.chance.choice(("0", "1", "5") if numeric else VALUES) for _ in range(count)]
        return {"key": self.chance.choice(KEYS), "operator": operator, "values": values}

    def field(self, names: tuple[str, ...]) -> Json:
        operator = self.chance.choice(("In", "NotIn"))
        return {
            "key": "metadata.name",
            "operator": operator,
            "values": [self.chance.choice(names)],
        }

    def term(self, names: tuple[str, ...]) -> Json:
        """A node selector term, sometimes empty."""
        labels = [self.expression() for _ in range(self.chance.choice((0, 1, 1, 2)))]
        fields = [self.field(names) for _ in range(self.chance.choice((0, 0, 0, 1)))]
        return {"matchExpressions": labels, "matchFields": fields}

    def taint(self) -> Json:
        effect = self.chance.choice(("NoSchedule", "NoExecute", "PreferNoSchedule"))
        return {
            "key": self.chance.choice("pq"),
            "value": self.chance.choice("xy"),
            "effect": effect,
        }

    def toleration(self) -> Json:
        effect = self.chance.choice(("", "", "NoSchedule", "NoExecute"))
        key = self.chance.choice(("p", "p", "q", "q", ""))
        if not key or self.chance.random() < 0.4:
            return {"key": key, "operator": "Exists", "effect": effect}
        return {"key": key, "value": self.chance.choice("xy"), "effect": effect}

    def placement(self, names: tuple[str, ...]) -> Json:
        """The parts of a pod spec that say which nodes it may go to."""
        spec: Json = {"tolerations": [self.toleration() for _ in range(self.chance.randint(0, 3))]}
        if self.chance.random() < 0.3:
            spec["nodeSelector"] = {self.chance.choice(KEYS): self.chance.choice(VALUES)}
        if self.chance.random() < 0.7:
            terms = [self.term(names) for _ in range(self.chance.choice((1, 1, 2, 3)))]
            required = {"nodeSelectorTerms": terms}
            affinity = {"requiredDuringSchedulingIgnoredDuringExecution": required}
            spec["affinity"] = {"nodeAffinity": affinity}
        return spec

    def resources(self, names: tuple[str, ...] = ("cpu", "memory")) -> Json:
        """Requests and limits that the API server lets in: no request above its limit."""
        found: Json = {"requests": {}, "limits": {}}
        for name in names:
            low, high = sorted(self.chance.choice((0, 1, 2, 5, 10)) for _ in range(2))
            if self.chance.random() < 0.5:
                found["requests"][name] = str(low)
            if self.chance.random() < 0.4:
                found["limits"][name] = str(high)
        return found

    def demanding_pod(self, name: str) -> Json:
        """A pod whose containers, sidecars and pod level leave some amounts to defaults."""
        containers = [
            {"name": f"c{index}", "image": "none", "resources": self.resources()}
            for index in range(self.chance.randint(1, 3))
        ]
        early: list[Json] = [
            {"name": f"i{index}", "image": "none", "resources": self.resources()}
            for index in range(self.chance.choice((0, 0, 1, 2)))
        ]
        for container in early:
            if self.chance.random() < 0.5:
                container["restartPolicy"] = "Always"
        spec: Json = {"containers": containers, "initContainers": early}
        if self.chance.random() < 0.5:
            # Pod-level amounts may not be below what the containers ask for together.
            spec["resources"] = self.chance.choice(
                (
                    {"limits": {"cpu": "1000", "memory": "1000"}},
                    {"limits": {"memory": "1000"}},
                    {"requests": {"cpu": "900"}, "limits": {"cpu": "1000"}},
                    {"requests": {"cpu": "900"}},
                )
            )
        return {"metadata": {"name": name}, "spec": spec}
