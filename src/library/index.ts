/** The public API of the package: five entry points, each with its documented exports. */
export * as lang from './lang.js'
export * as llm from './llm.js'
export * as mesh from './mesh.js'
export * as speech from './speech.js'
export * as tasks from './tasks.js'
