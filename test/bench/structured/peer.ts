import {readFileSync} from 'node:fs'
import {createRequire} from 'node:module'
import {compileFunction, constants} from 'node:vm'
import type * as XGrammar from '@mlc-ai/web-xgrammar'

const require = createRequire(import.meta.url)

/** XGrammar in WebAssembly. Its package says that it is an ES module, but the file is for CommonJS, so it is run as such. */
export function loadXGrammar(): typeof XGrammar {
  const file = require.resolve('@mlc-ai/web-xgrammar')
  const module = {exports: {}}
  const names = ['module', 'exports', 'require', '__filename', '__dirname']
  const run = compileFunction(readFileSync(file, 'utf8'), names, {
    filename: file,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  })
  run(module, module.exports, require, file, file)
  return module.exports as typeof XGrammar
}

/** GPT-2's byte alphabet, in which XGrammar expects the tokens of such vocabularies. */
const letters = (() => {
  let next = 256
  return Array.from({length: 256}, (_, byte) => {
    const isPrintable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174
    return String.fromCodePoint(isPrintable ? byte : next++)
  })
})()

export const inByteAlphabet = (bytes: Uint8Array): string => Array.from(bytes, (byte) => letters[byte]).join('')
