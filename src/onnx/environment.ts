import {setRuntimeEnvironment} from '../process/index.js'

// Before the runtime is imported.
setRuntimeEnvironment()
