import type {ConfigReader} from './config-reader.js'

/** Layers with a sliding window, if it is used: those in `layer_types`, else those from `max_window_layers` on. */
export function readWindow(config: ConfigReader): (layer: number) => number | undefined {
  const used = config.flag('use_sliding_window', false)
  const size = config.optionalCount('sliding_window')
  const first = config.optionalNumber('max_window_layers') ?? 0
  const types = config.words('layer_types', 'full_attention', 'sliding_attention')
  if (!used || size === undefined) return () => undefined
  const windowed = (layer: number) => (types === undefined ? layer >= first : types[layer] === 'sliding_attention')
  return (layer) => (windowed(layer) ? size : undefined)
}
