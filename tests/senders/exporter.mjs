// Exports one of each instrument by the OpenTelemetry SDK: node exporter.mjs MODULES PROTOCOL ENDPOINT TOKEN
import { createRequire } from "node:module";

const [modules, protocol, endpoint, token] = process.argv.slice(2);
const take = createRequire(modules + "/");
const { DiagConsoleLogger, DiagLogLevel, diag } = take("@opentelemetry/api");
const { MeterProvider, PeriodicExportingMetricReader } = take("@opentelemetry/sdk-metrics");
const { resourceFromAttributes } = take("@opentelemetry/resources");

diag.setLogger(new DiagConsoleLogger(), DiagLogLevel.WARN);

function exporter() {
  if (protocol === "grpc") {
    const { OTLPMetricExporter } = take("@opentelemetry/exporter-metrics-otlp-grpc");
    const metadata = new (take("@grpc/grpc-js").Metadata)();
    metadata.set("authorization", `Bearer ${token}`);
    return new OTLPMetricExporter({ url: endpoint, metadata });
  }
  const form = protocol === "http/json" ? "http" : "proto";
  const { OTLPMetricExporter } = take(`@opentelemetry/exporter-metrics-otlp-${form}`);
  const headers = { Authorization: `Bearer ${token}` };
  return new OTLPMetricExporter({ url: `${endpoint}/v1/metrics`, headers, compression: "gzip" });
}

const reader = new PeriodicExportingMetricReader({ exporter: exporter(), exportIntervalMillis: 60000 });
const resource = resourceFromAttributes({ "service.name": "shop" });
const provider = new MeterProvider({ resource, readers: [reader] });
const meter = provider.getMeter("tests");
meter.createCounter("orders").add(3, { city: "Lund" });
meter.createHistogram("latency").record(7);
await provider.forceFlush();
await provider.shutdown();
