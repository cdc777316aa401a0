import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {isLoopback} from '../../src/net/index.js'

describe('loopback host', () => {
  for (const host of [
    'localhost',
    'LOCALHOST',
    'app.localhost',
    '127.0.0.1',
    '127.0.0.53',
    '127.255.255.254',
    '::1',
    '[::1]',
    '0:0:0:0:0:0:0:1',
    '::ffff:127.0.0.1',
  ])
    it(host, () => {
      assert.equal(isLoopback(host), true)
    })
})

describe('other host', () => {
  for (const host of [
    '',
    'example.org',
    'localhost.example.org',
    'notlocalhost',
    '127.0.0.1.example.org',
    '127.0.0.1x',
    '128.0.0.1',
    '126.255.255.255',
    '0.0.0.0',
    '192.168.0.1',
    '::',
    '[::]',
    '[::2]',
    '::ffff:10.0.0.1',
    'fe80::1',
    'fe80::1%eth0',
    '2001:db8::1',
  ])
    it(host === '' ? 'no host' : host, () => {
      assert.equal(isLoopback(host), false)
    })
})
