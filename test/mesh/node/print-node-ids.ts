import {nodeId} from '../../../src/mesh/index.js'

/** Reads the node id concurrently several times and prints the results. */
const ids = await Promise.all(Array.from({length: Number(process.argv[2])}, () => nodeId({env: process.env})))
process.stdout.write(`${ids.join('\n')}\n`)
