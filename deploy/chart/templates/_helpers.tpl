{{- define "deskwire.labels" -}}
{{ include "deskwire.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "deskwire.selector" -}}
app.kubernetes.io/name: deskwire
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "deskwire.name" -}}
{{ if eq .Release.Name "deskwire" }}deskwire{{ else }}{{ printf "%s-deskwire" .Release.Name | trunc 50 }}{{ end }}
{{- end }}

{{/* Of a pod, whatever it runs. */}}
{{- define "deskwire.pod" -}}
automountServiceAccountToken: false
# A Service named deskwire would set DESKWIRE_PORT to an address.
enableServiceLinks: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: { type: RuntimeDefault }
volumes:
  - name: tmp
    emptyDir: {}
  {{- with .Values.databases }}
  {{- if .secret }}
  - name: databases
    secret:
      secretName: {{ .secret }}
      items: [{ key: {{ .key }}, path: databases }]
      defaultMode: 0440
  {{- end }}
  {{- end }}
  {{- with .Values.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{/* Of its container. */}}
{{- define "deskwire.container" -}}
image: "{{ .Values.image.repository }}:{{ include "deskwire.text" .Values.image.tag | default .Chart.AppVersion }}"
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
volumeMounts:
  - { name: tmp, mountPath: /tmp }
  {{- if .Values.databases.secret }}
  - { name: databases, mountPath: /etc/deskwire, readOnly: true }
  {{- end }}
  {{- with .Values.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{/* What every process is told. */}}
{{- define "deskwire.env" -}}
{{- $secret := .Values.secret -}}
{{- $keys := dict "ENCRYPTION_KEY" $secret.encryptionKey -}}
{{- if .Values.databases.secret }}
- { name: DESKWIRE_DATABASES, value: /etc/deskwire/databases }
{{- else -}}
{{- $keys = merge $keys (dict "DATABASE_URL" $secret.databaseUrl "DATABASE_DIRECT_URL" $secret.databaseDirectUrl) -}}
{{- end -}}
{{- range $name, $key := $keys }}
{{- if $key }}
- name: DESKWIRE_{{ $name }}
  valueFrom: { secretKeyRef: { name: {{ $secret.name }}, key: {{ $key }} } }
{{- end }}
{{- end }}
{{- with .Values.publicUrl | default (ternary (printf "https://%s" .Values.ingress.host) "" .Values.ingress.enabled) }}
- { name: DESKWIRE_PUBLIC_URL, value: {{ . | quote }} }
{{- end }}
{{- range $name, $value := .Values.settings }}
- name: {{ $name }}
  value: {{ include "deskwire.text" $value | quote }}
{{- end }}
{{- end }}

{{/* Helm reads each number of the values as a float, which it would write as 1e+07. */}}
{{- define "deskwire.text" -}}
{{- if and (kindIs "float64" .) (eq (floor .) .) }}{{ int64 . }}{{ else }}{{ . }}{{ end }}
{{- end }}

{{- define "deskwire.probes" -}}
startupProbe:
  httpGet: { path: /healthz, port: http }
  periodSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet: { path: /healthz, port: http }
  periodSeconds: 10
  timeoutSeconds: 5
readinessProbe:
  httpGet: { path: /readyz, port: http }
  periodSeconds: 5
  timeoutSeconds: 3
{{- end }}

{{/* Over the nodes, as far as there are any. */}}
{{- define "deskwire.spread" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "deskwire.selector" .root | nindent 8 }}
        app.kubernetes.io/component: {{ .component }}
{{- end }}
