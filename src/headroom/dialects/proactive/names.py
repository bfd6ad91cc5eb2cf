"""Names of the proposal, and of the one object that stands for it here."""

from __future__ import annotations

from headroom.core.names import GROUP

OBJECT_NAME = "proactive-scaleup"

PLACEHOLDER_LABEL = "karpenter.azure.com/proactive-scaleup"  # on pods that only keep room
PLACEHOLDER = "placeholder"
POD_ANNOTATION = f"{PLACEHOLDER_LABEL}-pod"
PRIORITY_CLASS = "karpenter-proactive-scaleup-placeholder"
PRIORITY = -1000

# On our object: which class its guardians have instead, and what its author should know.
CLASS_ANNOTATION = f"{GROUP}/priority-class"
REMARK_ANNOTATION = f"{GROUP}/remark"

AUTOSCALER_LEASE = "cluster-autoscaler"
CUTOFF = -10  # Cluster Autoscaler's default; it acts for no pod below it.
