import type {TaskListener} from '../../workspace/index.js'
import {contextListener} from '../context/context-store.js'
import {questionListener} from '../questions/close-questions.js'

/** What this module itself does when a task or an agent changes. */
export const taskListeners: readonly TaskListener[] = [contextListener, questionListener]
