import {after, type TestContext} from 'node:test'

/** For what all tests of a suite share: it lives as long as the suite. Called in its body. */
export function suiteLifetime(): Pick<TestContext, 'after'> {
  const ends: (() => unknown)[] = []
  after(async () => {
    for (const end of ends.reverse()) await end()
  })
  return {
    after: (end) => {
      ends.push(end as () => unknown)
    },
  }
}
