export interface Instruction {
  readonly name: string;
  readonly text: string;
}

export interface Stage {
  /** Name after AS, empty if there is none. */
  readonly name: string;
  readonly base: string;
  readonly instructions: readonly Instruction[];
}

export interface Copy {
  /** Stage the files come from; undefined for the build context. */
  readonly from: string | undefined;
  readonly sources: readonly string[];
  readonly target: string;
}

/** The stages of a Dockerfile; what is before the first FROM is left out. */
export function stagesOf(dockerfile: string): Stage[] {
  const lines = dockerfile
    .split('\n')
    .filter((line) => !line.trimStart().startsWith('#'))
    .join('\n')
    .replaceAll(/\\\n/g, ' ')
    .split('\n')
    .map((line) => line.replaceAll(/\s+/g, ' ').trim())
    .filter((line) => line !== '');
  const stages: { name: string; base: string; instructions: Instruction[] }[] = [];
  for (const line of lines) {
    const [name = '', ...rest] = line.split(' ');
    if (name === 'FROM') stages.push({ base: rest[0] ?? '', name: rest[2] ?? '', instructions: [] });
    else stages.at(-1)?.instructions.push({ name, text: rest.join(' ') });
  }
  return stages;
}

export function textsOf(stage: Stage, name: string): string[] {
  return stage.instructions.filter((one) => one.name === name).map(({ text }) => text);
}

export function copiesOf(stage: Stage): Copy[] {
  return textsOf(stage, 'COPY').map((text) => {
    const words = text.split(' ');
    const flag = words.find((word) => word.startsWith('--from='));
    const paths = words.filter((word) => !word.startsWith('--'));
    return { from: flag?.slice('--from='.length), sources: paths.slice(0, -1), target: paths.at(-1) ?? '' };
  });
}
