import {publishNode} from '../../../src/mesh/index.js'

/** Publishes each node concurrently under three names: `PATH ID...`. */
const [path = '', ...ids] = process.argv.slice(2)
await Promise.all(
  ids.flatMap((id) =>
    [0, 1, 2].map((i) => {
      const now = Date.now()
      return publishNode(path, {id: `${id}-${i}`, version: '1', capabilities: {}, last_seen_unix_ms: now}, now)
    }),
  ),
)
