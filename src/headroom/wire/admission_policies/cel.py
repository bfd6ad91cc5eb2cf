"""Build ValidatingAdmissionPolicies, and the CEL expressions that several of them share.

The binding of a policy restricts nothing: the policy applies to everything that it matches. An
error in an expression refuses the request, so that a failure never allows more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from headroom.wire.installed_kinds import LABELS, POLICIES, POLICY_BINDINGS
from headroom.wire.kinds import Json, Resource


@dataclass(frozen=True, slots=True)
class Match:
    """Which requests a policy looks at: operations on the resources of one group."""

    group: str
    resources: tuple[str, ...]
    operations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Check:
    """What must be true of a request, and the message for its sender if it is not."""

    expression: str
    message: str


@dataclass(frozen=True, slots=True)
class Confined:
    """What the operator may write of one kind; the policy is named after the kind."""

    match: Match
    checks: tuple[Check, ...]


def confined(kind: Resource, operations: tuple[str, ...], *checks: Check) -> Confined:
    """What must be true of these operations on objects of one kind."""
    return Confined(Match(kind.group, (kind.plural,), operations), checks)


@dataclass(frozen=True, slots=True)
class Validating:
    """One policy. `conditions` say whom it is about; `variables` name parts of expressions."""

    name: str
    matches: tuple[Match, ...]
    conditions: Mapping[str, str]
    checks: tuple[Check, ...]
    variables: Mapping[str, str] = field(default_factory=dict)

    def objects(self) -> list[Json]:
        """The policy and its binding, as the API wants them."""
        return [self._policy(), self._binding()]

    def _policy(self) -> Json:
        spec = {
            "failurePolicy": "Fail",
            "matchConstraints": {"resourceRules": [_rule(each) for each in self.matches]},
            "matchConditions": named_expressions(self.conditions),
            "variables": named_expressions(self.variables),
            "validations": [
                {"expression": each.expression, "message": each.message, "reason": "Forbidden"}
                for each in self.checks
            ],
        }
        return POLICIES.new({"name": self.name, "labels": LABELS}, spec=spec)

    def _binding(self) -> Json:
        spec = {"policyName": self.name, "validationActions": ["Deny"]}
        return POLICY_BINDINGS.new({"name": self.name, "labels": LABELS}, spec=spec)


def named_expressions(expressions: Mapping[str, str]) -> list[Json]:
    """Named expressions as the API wants them listed."""
    return [{"name": name, "expression": text} for name, text in expressions.items()]


def _rule(match: Match) -> Json:
    return {
        "apiGroups": [match.group],
        "apiVersions": ["*"],
        "operations": [*match.operations],
        "resources": [*match.resources],
    }


def account_name(namespace: str, name: str) -> str:
    """A service account as the API server calls it."""
    return f"system:serviceaccount:{namespace}:{name}"


def made_by(user: str) -> dict[str, str]:
    """The condition that a request comes from this user; others pay nothing more."""
    return {"who": f"request.userInfo.username == {text(user)}"}


def text(value: str) -> str:
    """A CEL string; our values are names, which have no quotes in them."""
    return f"'{value}'"


def texts(values: Iterable[str]) -> str:
    """A CEL list of strings."""
    return "[" + ", ".join(text(value) for value in values) + "]"


def both(expressions: Sequence[str]) -> str:
    """All of these."""
    return " && ".join(f"({each})" for each in expressions)


def unchanged(path: str, fields: Iterable[str]) -> str:
    """That fields below a path are as they were; one that is missing is equal to itself."""
    return both([f"object.{path}.?{name} == oldObject.{path}.?{name}" for name in fields])


def mapping(root: str, name: str) -> str:
    """The labels or annotations of an object; empty if there are none."""
    return f"{root}.metadata.?{name}.orValue({{}})"


def same_but(before: str, after: str, ours: str) -> str:
    """That two maps differ only in keys of which `ours` is true (an expression about `key`)."""
    return (
        f"{after}.all(key, (key in {before} && {before}[key] == {after}[key]) || {ours}) && "
        f"{before}.all(key, key in {after} || {ours})"
    )
