import assert from 'node:assert/strict'
import {readdirSync, readFileSync} from 'node:fs'
import {describe, it} from 'node:test'
import {projectFile} from '../support/project.js'

const nouns = 'agents|entries|leases|nodes|records|recordings|rows|sessions|steps|tasks|tokens|turns|warnings|words'
/** A number before a noun in the plural, unless its name says that it is a limit above 1. */
const numbered = new RegExp(`\\$\\{(?!counted\\()([^{}]+)\\} (?:${nouns})\\b(?!/s)`, 'g')
const limit = /^(most|max|longest|largest|least|limit|vocabulary|size|p\.context|p\.limit|.*[lL]imit|.*\.max|context)/
/** An own way to choose the plural. */
const own = /=== 1 \? ''\s*: 's/

describe('a number of things in a text', () => {
  const files = ['src', 'commands'].flatMap((folder) =>
    readdirSync(projectFile(folder), {recursive: true, encoding: 'utf8'})
      .filter((name) => name.endsWith('.ts'))
      .map((name) => `${folder}/${name}`),
  )
  it('has the right plural: counted() writes it', () => {
    const findings = files.flatMap((path) => {
      const source = readFileSync(projectFile(path), 'utf8').replaceAll(/^\s*(\/\/|\*|\/\*).*$/gm, '')
      const texts = [...source.matchAll(numbered)].filter(([, value = '']) => !limit.test(value)).map(([text]) => text)
      return [...texts, ...(own.test(source) ? ["? '' : 's'"] : [])].map((text) => `${path}: ${text}`)
    })
    assert.deepEqual(findings, [])
  })
})
