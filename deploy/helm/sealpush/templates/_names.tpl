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

{{/* Variables of the server, and of commands that use the same settings. */}}
{{- define "sealpush.environment" -}}
{{- with .Values.baseUrl }}
- name: PWP__OVERRIDE_BASE_URL
  value: {{ . | quote }}
{{- end }}
- name: PWP__TRUSTED_PROXIES
  value: {{ default "none" (join "," .Values.trustedProxies) | quote }}
- name: PWP__SHUTDOWN_GRACE_SECONDS
  value: {{ int .Values.shutdownGraceSeconds | quote }}
{{- if .Values.publicGateway }}
- name: PWP_PUBLIC_GATEWAY
  value: "true"
{{- end }}
{{- if .Values.metrics.enabled }}
- name: PWP__METRICS__ENABLED
  value: "true"
{{- end }}
{{- range $name, $value := .Values.settings }}
- name: {{ $name }}
  value: {{ $value | toString | quote }}
{{- end }}
{{- range $name, $entry := .Values.secretSettings }}
- name: {{ $name }}_FILE
  value: {{ printf "/run/secrets/sealpush/%s" $entry | quote }}
{{- end }}
{{- end -}}
