import {existsSync} from 'node:fs'
import {syncBuiltinESMExports} from 'node:module'
import {fileURLToPath} from 'node:url'
import threads, {type WorkerOptions} from 'node:worker_threads'
import {projectFile} from '../support/project.js'

const sources = projectFile('dist/src/')

/** The file in the bundle of the program of a thread, which users run; without one, the program itself. */
export function bundledProgram(program: string | URL): string | URL {
  if (program instanceof URL && program.protocol !== 'file:') return program
  const path = program instanceof URL ? fileURLToPath(program) : program
  if (!path.startsWith(sources)) return program
  const name = path.slice(sources.length).replaceAll('\\', '/').replaceAll('/', '-')
  const bundled = projectFile(`dist/bundle/programs/${name}`)
  return existsSync(bundled) ? bundled : program
}

/**
 * Lets this process start the threads of the project from the bundle. Each thread loads its modules again, and hundreds
 * of compiled files take three times the processor time of a bundle. Tests start hundreds of threads.
 */
export function useBundledThreads(): void {
  const {Worker} = threads
  class BundledWorker extends Worker {
    constructor(program: string | URL, options?: WorkerOptions) {
      super(bundledProgram(program), options)
    }
  }
  Object.assign(threads, {Worker: BundledWorker})
  syncBuiltinESMExports()
}
