import {randomBytes} from 'node:crypto'
import {hostname} from 'node:os'
import {packageVersion} from '../../files/index.js'
import type {Replica} from '../protocol/replica.js'

/** Describes this control plane, with a new id. @param now time of the store, Unix ms */
export const newReplica = (now: number): Replica => ({
  id: randomBytes(4).toString('hex'),
  version: packageVersion(),
  host: hostname(),
  since_unix_ms: now,
})
