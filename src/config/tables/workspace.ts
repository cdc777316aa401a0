import {settings} from '../setting.js'
import {path} from '../types.js'

/** Where the workspace is and where its data lies. */
export const workspaceSettings = settings('workspace', {
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
})
