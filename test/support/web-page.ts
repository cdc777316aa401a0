import assert from 'node:assert/strict'
import {createHash} from 'node:crypto'

/** Asserts that a page needs nothing from elsewhere, and that its policy permits only its own script and style. */
export function assertSelfContained(html: string, policy: string): void {
  for (const [tag, directive] of [
    ['script', 'script-src'],
    ['style', 'style-src'],
  ] as const) {
    const text = new RegExp(`<${tag}>([\\s\\S]*)</${tag}>`).exec(html)?.[1] ?? ''
    const hash = createHash('sha256').update(text).digest('base64')
    assert.ok(policy.includes(`${directive} 'sha256-${hash}'`), tag)
  }
  assert.match(policy, /^default-src 'none'; .*frame-ancestors 'none'/)
  assert.doesNotMatch(policy, /unsafe|\*|https?:/)
  assert.doesNotMatch(html, /<(?!a )[^>]*\s(src|href)="(?!data:)|<[^>]+\son\w+=|@import|\burl\(/i)
}
