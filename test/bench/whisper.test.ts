import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {type Round, summary} from './whisper.js'

/** Every stage takes `ms`. */
const times = (ms: number) => ({
  encode_ms: ms,
  step_ms: ms,
  token_ms: ms,
  beam5_step_ms: ms,
  beam5_token_ms: ms,
  clip_ms: ms,
  ten_minutes_ms: ms,
  ten_minutes_batched_ms: ms,
  log_mel_ms_per_second: 1,
})
const peer = (ms: number) => ({times: {...times(ms), select_ms: 1}})

const own = {f32: times(8), int8: times(2)}

describe('the summary of the Whisper benchmark', () => {
  it('compares with the fastest model of whisper.cpp of each round, and with 16-bit floats', () => {
    const round = (f16: number, q51: number): Round => ({
      own,
      peers: new Map([
        ['f16', peer(f16)],
        ['q5_1', peer(q51)],
      ]),
    })
    const {ratio, fastest} = summary([round(4, 8), round(4, 2), round(8, 1)])
    assert.equal(ratio?.int8.fastest.token, 1)
    assert.equal(ratio?.int8.f16?.token, 0.5)
    assert.equal(ratio?.f32.fastest.encode, 4)
    assert.equal(fastest.token, 'q5_1')
  })

  it('lists a model that fails with the reason, and compares with the others', () => {
    const failed = 'whisper-bench ended with SIGABRT'
    const peers: Round['peers'] = new Map<'f16' | 'q8_0', ReturnType<typeof peer> | {failed: string}>([
      ['f16', peer(4)],
      ['q8_0', {failed}],
    ])
    const {ratio, whisper_cpp} = summary([{own, peers}])
    const {encode_ms, failed: reason}: Record<string, unknown> = {...whisper_cpp.q8_0}
    assert.deepEqual([encode_ms, reason], [null, failed])
    assert.equal(ratio?.int8.fastest.encode, 0.5)
  })

  it('has no ratios without whisper.cpp', () => {
    const {ratio, svc} = summary([{own, peers: new Map()}])
    assert.equal(ratio, undefined)
    assert.equal(svc.int8.token_ms, 2)
  })
})
