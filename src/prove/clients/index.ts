import {administrator} from './administrator.js'
import type {Client} from './client-context.js'
import {intruder} from './intruder.js'
import {leaseWorker} from './lease-worker.js'
import {newcomer} from './newcomer.js'
import {node} from './node.js'
import {reader} from './reader.js'
import {receiver} from './receiver.js'
import {sender} from './sender.js'

/** Kinds of clients, and the default number of each. */
export const clients = {
  node: {act: node, count: 4},
  'lease-worker': {act: leaseWorker, count: 7},
  sender: {act: sender, count: 3},
  receiver: {act: receiver, count: 9},
  administrator: {act: administrator, count: 1},
  reader: {act: reader, count: 1},
  intruder: {act: intruder, count: 2},
  newcomer: {act: newcomer, count: 1},
} as const satisfies Readonly<Record<string, {act: Client; count: number}>>

export type ClientKind = keyof typeof clients
