#!/usr/bin/env node
import {readFileSync, writeSync} from 'node:fs'

const argv = process.argv.slice(2)

// Handled before anything else is loaded, because editors and scripts often ask for the version.
if (argv.length === 1 && ['--version', '-V', '-v', 'version'].includes(argv[0])) {
  const {version} = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  try {
    writeSync(1, `svc/${version} ${process.platform}-${process.arch} node-${process.version}\n`)
  } catch (error) {
    if (error.code !== 'EPIPE') throw error
  }
} else {
  const {start} = await import('../dist/bundle/svc.js')
  await start(argv)
}
