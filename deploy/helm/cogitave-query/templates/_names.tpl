{{- define "cogitave-query.name" -}}
{{ .Release.Name | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "cogitave-query.labels" -}}
app.kubernetes.io/name: cogitave-query
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "cogitave-query.is-stateless" -}}
{{- if and .Values.settings.neo4j_url .Values.settings.opensearch_url .Values.settings.qdrant_url }}true{{ end }}
{{- end }}

{{- /* A value in TOML: JSON's, but for tables. */ -}}
{{- define "cogitave-query.toml" -}}
{{- if kindIs "map" . -}}
{{- $pairs := list -}}
{{- range $name, $value := . -}}
{{- $pairs = append $pairs (printf "%s = %s" (toJson $name) (toJson $value)) -}}
{{- end -}}
{ {{ join ", " $pairs }} }
{{- else -}}
{{ toJson . }}
{{- end -}}
{{- end }}
