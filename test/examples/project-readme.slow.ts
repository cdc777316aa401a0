import {isLong, testReadme} from './project-readme.js'

testReadme(isLong)
