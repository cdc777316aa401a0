/** A metric with its samples; the labels of a sample are written as `{name="value"}`, or empty. */
export type MetricFamily = readonly [
  name: string,
  type: 'counter' | 'gauge' | 'histogram',
  help: string,
  samples: readonly (readonly [labels: string, value: number])[],
]

/** The content type of `metricsText`. */
export const metricsType = 'text/plain; version=0.0.4; charset=utf-8'

/** Renders metrics in the text format of Prometheus, version 0.0.4. */
export const metricsText = (families: readonly MetricFamily[]): string =>
  families
    .map(([name, type, help, samples]) => {
      const lines = samples.map(([labels, value]) => `${name}${labels} ${value}\n`).join('')
      return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines}`
    })
    .join('')
