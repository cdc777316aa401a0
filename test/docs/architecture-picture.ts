import {readFileSync} from 'node:fs'
import {projectFile} from '../support/project.js'

const [width, rowHeight, labelWidth, gap] = [1080, 44, 40, 8]

interface Layer {
  number: number
  modules: string[]
}

/** The layers in the table of CONTRIBUTING.md, the highest first. */
const layersOf = (text: string): Layer[] =>
  [...text.matchAll(/^\| (\d+) +\| (.*) \|$/gm)].map(([, number, cell = '']) => ({
    number: Number(number),
    modules: cell.split(' · ').flatMap((module) => /^`([\w-]+)`:/.exec(module)?.[1] ?? []),
  }))

/** The layers of the project and their modules, as an SVG. */
export function architecturePicture(): string {
  const layers = layersOf(readFileSync(projectFile('CONTRIBUTING.md'), 'utf8'))
  const rows = [{number: undefined, modules: ['commands']}, ...layers].map(({number, modules}, row) => {
    const y = row * (rowHeight + gap)
    const boxWidth = (width - labelWidth - gap * (modules.length - 1)) / modules.length
    const boxes = modules.map((name, i) => {
      const x = labelWidth + i * (boxWidth + gap)
      return `  <rect x="${x.toFixed(1)}" y="${y}" width="${boxWidth.toFixed(1)}" height="${rowHeight}" rx="6" />
  <text x="${(x + boxWidth / 2).toFixed(1)}" y="${y + rowHeight / 2 + 5}" text-anchor="middle">${name}</text>`
    })
    return [`  <text class="layer" x="0" y="${y + rowHeight / 2 + 5}">${number ?? ''}</text>`, ...boxes].join('\n')
  })
  const height = rows.length * (rowHeight + gap) - gap
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="Layers and modules of svc">
  <style>
    text { font: 14px ui-monospace, monospace; fill: #1f2937 }
    .layer { fill: #6b7280 }
    rect { fill: #eef2ff; stroke: #a5b4fc }
    @media (prefers-color-scheme: dark) { .layer { fill: #9ca3af } }
  </style>
${rows.join('\n')}
</svg>
`
}
