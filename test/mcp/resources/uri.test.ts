import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {fromCursor, toCursor} from '../../../src/mcp/resources/cursor.js'
import {chatUri, parseUri, uriOf} from '../../../src/mcp/resources/uri.js'

describe('resource URI', () => {
  for (const [uri, canonical] of [
    ['svc://tasks', 'svc://tasks'],
    ['svc://tasks/', 'svc://tasks'],
    ['svc://tasks/42', 'svc://tasks/42'],
    ['svc://tasks/t-0042', 'svc://tasks/42'],
    ['svc://tasks/0042/transcript', 'svc://tasks/42/transcript'],
    ['svc://chats/default', 'svc://chats/default'],
    ['svc://chats/a%2Fb', 'svc://chats/a%2Fb'],
  ] as const)
    it(`normalises ${uri} to ${canonical}`, () => {
      const name = parseUri(uri)
      assert.ok(name)
      assert.equal(uriOf(name), canonical)
    })

  for (const wrong of [
    '',
    'svc://',
    'svc://task',
    'svc://tasks/0',
    'svc://tasks/-1',
    'svc://tasks/1/x',
    'svc://chats/a/b',
  ])
    it(`rejects ${JSON.stringify(wrong)}`, () => {
      assert.equal(parseUri(wrong), undefined)
    })

  it('can contain any session id', () => {
    for (const sessionId of ['ä ?#/%', '..', 'a b'])
      assert.deepEqual(parseUri(chatUri(sessionId)), {kind: 'chat', sessionId})
  })
})

describe('list cursor', () => {
  it('round-trips', () => {
    for (const place of [{tasksBefore: 7}, {chatsFrom: 0}])
      assert.deepEqual(fromCursor(toCursor(place), 'chatsFrom'), place)
    assert.equal(fromCursor(toCursor({callsFrom: 1}), 'chatsFrom'), undefined)
  })

  for (const wrong of ['', '7', '{}', 'bnVsbA', Buffer.from('{"tasksBefore":"7"}').toString('base64url')])
    it(`rejects ${JSON.stringify(wrong)}`, () => {
      assert.equal(fromCursor(wrong, 'chatsFrom'), undefined)
    })
})
