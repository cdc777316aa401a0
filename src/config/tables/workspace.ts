import {settings} from '../setting.js'
import {boolean, choice, path} from '../types.js'

/** Where the workspace is and where its data lies. */
export const workspaceSettings = settings('workspace', () => ({
  repositoryRoot: {
    type: path(),
    env: ['SVC_REPOSITORY_ROOT', 'SVC_REPO_ROOT'],
    doc: 'Folder from which the repository id is found, instead of the current directory.',
  },
  canonicalStore: {
    type: path(),
    env: ['SVC_DB_PATH'],
    doc: 'File of the canonical store, shared by all workspaces of a user.',
  },
  dataDir: {
    type: path(),
    env: ['SVC_DATA_DIR'],
    doc: 'Folder of the canonical store where nothing names its file, instead of the one of the platform.',
  },
  journeyStore: {
    type: choice('project', 'canonical'),
    env: ['SVC_WORKSPACE_JOURNEY_STORE'],
    default: 'project',
    doc: 'Whether a workspace keeps its tasks in a store of its own (project) or in that of the user (canonical).',
  },
  journeyFallbackCanonical: {
    type: boolean('lenient'),
    env: ['SVC_WORKSPACE_JOURNEY_FALLBACK_CANONICAL'],
    default: false,
    doc: 'Use the canonical store, with a warning, where the store of the workspace cannot be opened.',
  },
}))
