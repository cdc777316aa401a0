import {after, type TestContext} from 'node:test'

/** Lifetime of resources shared by the tests of a suite. Must be called in the body of its `describe`. */
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
