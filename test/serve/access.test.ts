import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {originTest} from '../../src/serve/access.js'

describe('allowed origins', () => {
  const cases: readonly [patterns: string[], origin: string, isAllowed: boolean][] = [
    [[], 'http://localhost:3000', true],
    [[], 'tauri://localhost', true],
    [[], 'https://example.org', false],
    [[], 'null', false],
    [['null'], 'null', true],
    [['*'], 'https://example.org', true],
    [['https://example.org'], 'https://example.org', true],
    [['https://example.org'], 'https://exampleXorg', false],
    [['https://example.org'], 'https://example.org.evil.test', false],
    [['https://example.org'], 'http://example.org', false],
    [['chrome-extension://*'], 'chrome-extension://abcdefgh', true],
    [['chrome-extension://*'], 'moz-extension://abcdefgh', false],
    [['https://*.example.org'], 'https://a.b.example.org', true],
    [['https://*.example.org'], 'https://example.org', false],
    [['https://*.example.org'], 'https://evilexample.org', false],
    [['https://*.example.org'], 'https://a.example.org.evil.test', false],
    [['http://192.168.1.*:3000'], 'http://192.168.1.7:3000', true],
    [['http://192.168.1.*:3000'], 'http://192.168.1.7:3001', false],
    [['http://a.test', 'https://*'], 'https://b.test:8443', true],
  ]
  for (const [patterns, origin, isAllowed] of cases)
    it(`${isAllowed ? 'include' : 'exclude'} ${origin} with ${patterns.join(', ') || 'no patterns'}`, () =>
      assert.equal(originTest(patterns)(origin), isAllowed))
})
