import {isLong, testReadme} from './project-readme.js'

testReadme((script) => !isLong(script))
