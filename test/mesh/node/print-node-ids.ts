import {nodeId} from '../../../src/mesh/index.js'

/** Asks for the id of this machine so many times at once, and prints what it gets. */
const ids = await Promise.all(Array.from({length: Number(process.argv[2])}, () => nodeId({env: process.env})))
process.stdout.write(`${ids.join('\n')}\n`)
