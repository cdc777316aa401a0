import {type Operation, operation} from '../operation.js'
import {list, number, object, text} from '../schema.js'
import type {Skill, SkillFile} from '../skills.js'

const skill = object(
  {
    uri: text('URI of its SKILL.md.'),
    frontmatter: object({name: text(), description: text()}, {required: ['name', 'description']}),
    resources: list(
      object({uri: text(), digest: text('sha256:HEX'), size: number('Bytes.')}, {required: ['uri', 'digest', 'size']}),
    ),
  },
  {required: ['uri', 'frontmatter', 'resources']},
)
/** Imported when it is needed, since it reads files. */
const loadSkills = () => import('../skills.js')

const cache = {ttlMs: number('How long the result can be kept, ms.'), cacheScope: text()}
const uri = text('URI of a skill or of one of its files.', {maxLength: 1000})

/** The methods of MCP for skills, in the daemon. The MCP server has the same ones, and its own tools. */
export const skillOperations: readonly Operation[] = [
  operation<{cursor?: string}, {skills: readonly Skill[]}>({
    name: 'list_skills',
    title: 'List skills',
    summary: 'List the guides to svc, which are skills of the Model Context Protocol.',
    effect: 'read',
    idempotent: true,
    input: object({cursor: text('Has no effect: all skills are one page.', {maxLength: 1000})}, {open: true}),
    output: object({skills: list(skill), ...cache}, {required: ['skills', 'ttlMs', 'cacheScope']}),
    bindings: {rpc: {method: 'skills/list'}},
    async run() {
      const {listSkills, skillCache} = await loadSkills()
      return {skills: await listSkills(), ...skillCache}
    },
  }),
  operation<{uri: string}, {skill: Skill}>({
    name: 'get_skill',
    title: 'Get a skill',
    summary: 'Get a skill by the URI of its SKILL.md.',
    effect: 'read',
    idempotent: true,
    input: object({uri}, {required: ['uri'], open: true}),
    output: object({skill, ...cache}, {required: ['skill', 'ttlMs', 'cacheScope']}),
    bindings: {rpc: {method: 'skills/get'}},
    async run({uri: of}) {
      const {requireSkill, skillCache} = await loadSkills()
      return {skill: await requireSkill(of), ...skillCache}
    },
  }),
  operation<{uri: string}, {contents: SkillFile[]}>({
    name: 'read_skill',
    title: 'Read a file of a skill',
    summary: 'Read a file of a skill.',
    effect: 'read',
    idempotent: true,
    input: object({uri}, {required: ['uri'], open: true}),
    output: object(
      {contents: list(object({uri: text(), mimeType: text(), text: text()}, {required: ['uri', 'mimeType', 'text']}))},
      {required: ['contents'], open: true},
    ),
    bindings: {rpc: {method: 'resources/read'}},
    run: async ({uri: of}) => ({contents: [await (await loadSkills()).readSkillFile(of)]}),
  }),
]
