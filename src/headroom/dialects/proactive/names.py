"""Names of the proposal, and of the one object that represents it here."""

from __future__ import annotations

from headroom.core.names import GROUP

OBJECT_NAME = "proactive-scaleup"

PLACEHOLDER_LABEL = "karpenter.azure.com/proactive-scaleup"  # on pods that only keep room
PLACEHOLDER = "placeholder"
POD_ANNOTATION = f"{PLACEHOLDER_LABEL}-pod"
PRIORITY_CLASS = "karpenter-proactive-scaleup-placeholder"
PRIORITY = -1000

# On our object: another class of its guardians, and a remark for its author.
CLASS_ANNOTATION = f"{GROUP}/priority-class"
REMARK_ANNOTATION = f"{GROUP}/remark"

AUTOSCALER_LEASE = "cluster-autoscaler"
CUTOFF = -10  # Cluster Autoscaler's default; it ignores pods below it.
