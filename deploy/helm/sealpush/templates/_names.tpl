{{- define "sealpush.name" -}}
{{- if contains "sealpush" .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-sealpush" .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "sealpush.selector" -}}
app.kubernetes.io/name: sealpush
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "sealpush.labels" -}}
{{ include "sealpush.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{/* Not empty if several pods may run. */}}
{{- define "sealpush.several" -}}
{{- if or .Values.autoscaling.enabled (gt (int .Values.replicas) 1) -}}yes{{- end -}}
{{- end -}}

{{/* Empty: the default account of the namespace. */}}
{{- define "sealpush.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "sealpush.name" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}
