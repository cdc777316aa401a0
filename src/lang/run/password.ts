import {createRequire} from 'node:module'
import type {Context} from './context.js'
import {Failure} from './failure.js'
import type {Value} from './value.js'

/** Argon2id with the memory (KiB) and passes that OWASP recommends; about 20 ms. */
const options = {algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1} as const

type Argon2 = typeof import('@node-rs/argon2')

let loaded: Argon2 | undefined

/** Loads native code when a program first hashes a password. */
function argon2(): Argon2 {
  loaded ??= createRequire(import.meta.url)('@node-rs/argon2') as Argon2
  return loaded
}

const hashForm = /^\$argon2(id|i|d)\$/

/** Hashing runs in another thread, while other requests proceed. */
export const passwordBuiltins: Readonly<Record<string, (args: readonly Value[], context: Context) => Value>> = {
  'std.crypto.hash_password': ([password], context) => context.await(() => argon2().hash(String(password), options)),
  'std.crypto.verify_password': ([password, hash], context) => {
    if (!hashForm.test(String(hash))) throw new Failure('CONVERSION', 'the second argument is no hash of hash_password')
    return context.await(() => argon2().verify(String(hash), String(password)))
  },
}
