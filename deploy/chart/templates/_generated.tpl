{{- /* Written by `make chart` from the objects of `headroom install`. */}}
{{- define "headroom.usualPauseImage" -}}
registry.k8s.io/pause:3.10
{{- end }}
{{- define "headroom.alsoServed" -}}
{{ $.Release.Namespace }}
{{- if has "koordinator" $.Values.dialects }},headroom-reservations{{- end }}
{{- if has "schedulinggate" $.Values.dialects }},{{ $.Values.mountpoint.namespace }}{{- end }}
{{- end }}
{{- define "headroom.unsupported" -}}
{{- if semverCompare ">=1.38.0-0" $.Capabilities.KubeVersion.Version }}
Kubernetes {{ $.Capabilities.KubeVersion.Version }} is newer than what is supported: 1.33 to 1.37. Nobody has tested it.
{{- end }}
{{- end }}
{{- define "headroom.runFlags" -}}
{{- range $.Values.operator.price }}
- {{ printf "--price=%v" . | quote }}
{{- end }}
{{- if not (kindIs "invalid" $.Values.operator.poolLabel) }}
- {{ printf "--pool-label=%v" ($.Values.operator.poolLabel | toString) | quote }}
{{- end }}
{{- if $.Values.operator.allowCrossNamespaceOwners }}
- --allow-cross-namespace-owners
{{- end }}
{{- if $.Values.operator.allowClusterPreallocation }}
- --allow-cluster-preallocation
{{- end }}
{{- if not (kindIs "invalid" $.Values.operator.mostSlots) }}
- {{ printf "--most-slots=%v" ($.Values.operator.mostSlots | int64) | quote }}
{{- end }}
{{- if not (kindIs "invalid" $.Values.operator.nodeOverhead) }}
- {{ printf "--node-overhead=%v" ($.Values.operator.nodeOverhead | toString) | quote }}
{{- end }}
{{- if $.Values.operator.reservationTaintsForAll }}
- --reservation-taints-for-all
{{- end }}
{{- if not (kindIs "invalid" $.Values.operator.namespaceLimits) }}
- {{ printf "--namespace-limits=%v" ($.Values.operator.namespaceLimits | toString) | quote }}
{{- end }}
{{- if and (has "proactive" $.Values.dialects) (not (kindIs "invalid" $.Values.proactive.podInjectionLimit)) }}
- {{ printf "--pod-injection-limit=%v" ($.Values.proactive.podInjectionLimit | int64) | quote }}
{{- end }}
{{- if and (has "proactive" $.Values.dialects) (not (kindIs "invalid" $.Values.proactive.nodeLimit)) }}
- {{ printf "--node-limit=%v" ($.Values.proactive.nodeLimit | int64) | quote }}
{{- end }}
{{- if and (has "proactive" $.Values.dialects) (not (kindIs "invalid" $.Values.proactive.threshold)) }}
- {{ printf "--proactive-scaleup-threshold=%v" ($.Values.proactive.threshold | toString) | quote }}
{{- end }}
{{- if and (has "proactive" $.Values.dialects) (not (kindIs "invalid" $.Values.proactive.profile)) }}
- {{ printf "--proactive-scaleup-profile=%v" ($.Values.proactive.profile | toString) | quote }}
{{- end }}
{{- if and (has "proactive" $.Values.dialects) (not (kindIs "invalid" $.Values.proactive.requests)) }}
- {{ printf "--proactive-scaleup-requests=%v" ($.Values.proactive.requests | toString) | quote }}
{{- end }}
{{- if and (has "proactive" $.Values.dialects) (not (kindIs "invalid" $.Values.proactive.namespace)) }}
- {{ printf "--proactive-scaleup-namespace=%v" ($.Values.proactive.namespace | toString) | quote }}
{{- end }}
{{- if not (kindIs "invalid" $.Values.operator.logLevel) }}
- {{ printf "--log-level=%v" ($.Values.operator.logLevel | toString) | quote }}
{{- end }}
{{- if not (kindIs "invalid" $.Values.operator.logFormat) }}
- {{ printf "--log-format=%v" ($.Values.operator.logFormat | toString) | quote }}
{{- end }}
{{- end }}
