import {settings} from '../setting.js'
import {boolean, path, storeLocation} from '../types.js'

/** Location of the workspace and its data. */
export const workspaceSettings = settings('workspace', () => ({
  repositoryRoot: {
    type: path(),
    env: ['SVC_REPOSITORY_ROOT', 'SVC_REPO_ROOT'],
    doc: 'Directory from which the repository id is derived; default: the workspace root.',
  },
  canonicalStore: {
    type: path(),
    env: ['SVC_DB_PATH'],
    doc: 'File of the canonical store, which all workspaces of a user share.',
  },
  dataDir: {
    type: path(),
    env: ['SVC_DATA_DIR'],
    doc: 'Directory of the canonical store if its file is not set; default: the data directory of the platform.',
  },
  journeyStore: {
    type: storeLocation(),
    env: ['SVC_WORKSPACE_JOURNEY_STORE'],
    toml: ['workspace.journey_store'],
    default: 'project',
    doc: 'Where tasks are stored: in the workspace (project), in the store of the user (canonical) or in a file. A relative path starts at the workspace root.',
  },
  journeyFallbackCanonical: {
    type: boolean('lenient'),
    env: ['SVC_WORKSPACE_JOURNEY_FALLBACK_CANONICAL'],
    toml: ['workspace.journey_fallback_canonical'],
    default: false,
    doc: 'Use the canonical store, with a warning, if the workspace store, or the file that replaces it, cannot be opened.',
  },
}))
