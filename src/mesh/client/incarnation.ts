import {randomBytes} from 'node:crypto'

/** Which process of a node speaks: a random number below 2^53. */
export const drawIncarnation = (): number => Number(randomBytes(8).readBigUInt64BE() >> 11n)
