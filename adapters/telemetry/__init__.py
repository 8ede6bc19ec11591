"""Where telemetry goes: traces to an OTLP receiver."""
