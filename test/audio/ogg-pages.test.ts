import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {ByteReader} from '../../src/audio/byte-reader.js'
import {oggUnits} from '../../src/audio/ogg-units.js'
import {oggPage} from '../support/ogg-page.js'

const signature = 'audio'

async function read(...parts: readonly Uint8Array[]) {
  async function* source() {
    yield Buffer.concat(parts)
  }
  const warnings: string[] = []
  let damage = 0
  const context = {
    name: 'a',
    fileBytes: undefined,
    warn: ({code}: {code: string}) => warnings.push(code),
    live: false,
    signal: undefined,
  }
  const units: {texts: string[]; end: number | undefined; isAfterLoss: boolean; begins: boolean; isLast: boolean}[] = []
  for await (const {packets, end, isAfterLoss, begins = false, isLast = false} of oggUnits(
    new ByteReader(source()),
    signature,
    context,
    () => damage++,
  ))
    units.push({texts: packets.map((packet) => Buffer.from(packet).toString()), end, isAfterLoss, begins, isLast})
  return {units, warnings, damage}
}

const texts = ({units}: Awaited<ReturnType<typeof read>>) => units.flatMap((unit) => unit.texts)

const first = oggPage({isFirst: true, packets: ['audio head']})
const second = oggPage({sequence: 1, granule: 10, packets: ['one', 'two']})
const third = oggPage({sequence: 2, granule: 20, packets: ['three']})
const last = oggPage({sequence: 3, granule: 30, packets: ['four'], isLast: true})

describe('oggUnits', () => {
  it('returns the packets of each page with its end position', async () => {
    const {units, warnings, damage} = await read(first, second, third, last)
    assert.deepEqual(
      units.map((unit) => unit.texts),
      [['audio head'], ['one', 'two'], ['three'], ['four']],
    )
    assert.deepEqual(
      units.map(({end}) => end),
      [0, 10, 20, 30],
    )
    assert.deepEqual([units.at(-1)?.isLast, warnings, damage], [true, [], 0])
  })

  it('joins packets that continue on the next page', async () => {
    const long = 'x'.repeat(600)
    const begun = oggPage({sequence: 1, packets: ['one', long.slice(0, 510)], isOpen: true})
    const rest = oggPage({sequence: 2, granule: 10, packets: [long.slice(510), 'two'], continues: true, isLast: true})
    assert.deepEqual(texts(await read(first, begun, rest)), ['audio head', 'one', long, 'two'])
  })

  it('drops incomplete packets', async () => {
    const begun = oggPage({sequence: 1, packets: ['one', 'x'.repeat(510)], isOpen: true})
    const rest = oggPage({sequence: 3, granule: 10, packets: ['x'.repeat(90), 'two'], continues: true, isLast: true})
    const found = await read(first, begun, rest)
    assert.deepEqual(texts(found), ['audio head', 'one', 'two'])
    assert.deepEqual([found.units.at(-1)?.isAfterLoss, found.damage], [true, 1])
  })

  it('skips a page with a wrong checksum', async () => {
    const broken = Buffer.from(second)
    broken[broken.length - 1]! ^= 1
    const found = await read(first, broken, Buffer.from('x'.repeat(50)), third, last)
    assert.deepEqual(texts(found), ['audio head', 'three', 'four'])
    assert.deepEqual(
      found.units.map(({isAfterLoss}) => isAfterLoss),
      [false, true, false],
    )
  })

  it('starts a chained stream only after the first stream has continued', async () => {
    const video = oggPage({isFirst: true, serial: 7, packets: ['video head']})
    const more = oggPage({serial: 7, sequence: 1, packets: ['video']})
    const next = oggPage({isFirst: true, serial: 2, packets: ['audio again']})
    const end = oggPage({serial: 2, sequence: 1, granule: 5, packets: ['five'], isLast: true})
    const found = await read(first, video, second, more, third, last, next, end)
    assert.deepEqual(texts(found), ['audio head', 'one', 'two', 'three', 'four', 'audio again', 'five'])
    assert.deepEqual(
      found.units.map(({begins}) => begins),
      [false, false, false, false, true, false],
    )
    assert.deepEqual(found.warnings, [])
  })

  it('warns if the last page is missing', async () => {
    assert.deepEqual((await read(first, second, third.subarray(0, 20))).warnings, ['audio_truncated'])
    assert.deepEqual((await read(first, second, last, Buffer.from('a tag'))).warnings, [])
  })
})
