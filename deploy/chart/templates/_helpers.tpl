{{- /* The operator's image: by digest, or by tag. */}}
{{- define "headroom.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}
{{- end }}

{{- /*
"true" where the cluster has a kind of admissionregistration.k8s.io/v1. Where no cluster is asked (helm
template), its version says it. Arguments: the root, the kind, the first version that has it.
*/}}
{{- define "headroom.hasKind" -}}
{{- $cluster := (index . 0).Capabilities }}
{{- if $cluster.APIVersions.Has "v1/Pod" }}
{{- if $cluster.APIVersions.Has (printf "admissionregistration.k8s.io/v1/%s" (index . 1)) }}true{{ end }}
{{- else if semverCompare (printf ">=%s.0-0" (index . 2)) $cluster.KubeVersion.Version }}true{{ end }}
{{- end }}

{{- /* "true" where the policy that gates owners is wanted. */}}
{{- define "headroom.gate" -}}
{{- if eq (toString .Values.policies.gate) "auto" -}}
{{ include "headroom.hasKind" (list . "MutatingAdmissionPolicy" "1.36") }}
{{- else if .Values.policies.gate }}true{{ end }}
{{- end }}

{{- /* The same for the policies that confine accounts and reserve names. */}}
{{- define "headroom.confine" -}}
{{- if eq (toString .Values.policies.confine) "auto" -}}
{{ include "headroom.hasKind" (list . "ValidatingAdmissionPolicy" "1.30") }}
{{- else if .Values.policies.confine }}true{{ end }}
{{- end }}

{{- /*
"true" unless somebody else has brought this object: another system's own CRD, namespace or
PriorityClass is used as it is. Arguments: the root, API version, kind, name.
*/}}
{{- define "headroom.isFree" -}}
{{- $found := lookup (index . 1) (index . 2) "" (index . 3) }}
{{- $release := dig "metadata" "annotations" "meta.helm.sh/release-name" "" $found }}
{{- if or (not $found) (eq $release (index . 0).Release.Name) }}true{{ end }}
{{- end }}

{{- /* Mountpoint's names that are not the usual ones, as the flag takes them. */}}
{{- define "headroom.mountpointNames" -}}
{{- $names := list }}
{{- with .Values.mountpoint }}
{{- if ne .namespace "mount-s3" }}{{ $names = append $names (printf "namespace=%s" .namespace) }}{{ end }}
{{- if ne .helperClass "mount-s3-critical" }}{{ $names = append $names (printf "helper-class=%s" .helperClass) }}{{ end }}
{{- if ne .preemptingClass "mount-s3-preempting-critical" }}{{ $names = append $names (printf "preempting-class=%s" .preemptingClass) }}{{ end }}
{{- if ne .headroomClass "mount-s3-headroom" }}{{ $names = append $names (printf "headroom-class=%s" .headroomClass) }}{{ end }}
{{- end }}
{{- join "," $names }}
{{- end }}
