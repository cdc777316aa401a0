import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {formatAddress, parseListen, parsePeer, reachable} from '../../src/daemon/listen-address.js'
import {isErrorOf} from '../../src/errors/index.js'

const tcp = (host: string, port: number) => ({kind: 'tcp', host, port}) as const

describe('parseListen', () => {
  const cases: readonly [given: string, address: ReturnType<typeof parseListen>][] = [
    ['stdio', {kind: 'stdio'}],
    [' STDIO ', {kind: 'stdio'}],
    ['-', {kind: 'stdio'}],
    ['stdin', {kind: 'stdio'}],
    ['127.0.0.1:9745', tcp('127.0.0.1', 9745)],
    ['  tcp://127.0.0.1:9745\n', tcp('127.0.0.1', 9745)],
    ['TCP://localhost:0', tcp('localhost', 0)],
    ['[::1]:65535', tcp('::1', 65_535)],
    ['0.0.0.0:1', tcp('0.0.0.0', 1)],
    ['', undefined],
    ['0', undefined],
    [' OFF ', undefined],
  ]
  for (const [given, address] of cases)
    it(`accepts ${JSON.stringify(given)}`, () => {
      assert.deepEqual(parseListen(given), address)
    })

  for (const given of [
    'on',
    '9745',
    ':9745',
    'localhost',
    'localhost:',
    'localhost:65536',
    '::1:9745',
    'http://a:1',
    'a b:1',
    'a:1/x',
    '[x]:1',
  ])
    it(`rejects ${JSON.stringify(given)}`, () => {
      assert.throws(
        () => parseListen(given),
        (error) => isErrorOf(error, 'daemon_address_invalid') && error.exit === 2,
      )
    })
})

describe('peer address', () => {
  it('is undefined for some words', () => {
    for (const given of [undefined, '', ' ', '0', 'off', 'OFF', 'stdio', '-', 'stdin'])
      assert.equal(parsePeer(given), undefined, given)
  })

  it('is parsed like a listen address', () => {
    assert.deepEqual(parsePeer('tcp://[::1]:9745'), tcp('::1', 9745))
    assert.throws(() => parsePeer('nonsense'))
  })

  it('is formatted as it is parsed', () => {
    for (const address of ['127.0.0.1:9745', '[::1]:9745', 'localhost:1'])
      assert.equal(formatAddress(parsePeer(address) as never), address)
  })

  it('is loopback for a wildcard address', () => {
    assert.deepEqual(reachable(tcp('0.0.0.0', 5)), {host: '127.0.0.1', port: 5})
    assert.deepEqual(reachable(tcp('::', 5)), {host: '::1', port: 5})
    assert.deepEqual(reachable(tcp('10.0.0.1', 5)), {host: '10.0.0.1', port: 5})
  })
})
