// Plays a declarative Jenkinsfile on this machine: `groovy jenkins.groovy JENKINSFILE WORKSPACE
// [PARAMETER=VALUE..]`. Without a RUN_ID in the environment nothing is run: the scripts of `sh` steps are
// written into WORKSPACE. Blocks may hold the directives and steps named below; anything else is an error, as
// it is one for Jenkins.

class Known {
    static final Map BLOCKS = [
        pipeline: ['agent', 'parameters', 'options', 'stages'],
        parameters: ['string', 'choice'],
        options: ['timeout', 'disableConcurrentBuilds'],
        stages: ['stage'],
        stage: ['steps', 'matrix', 'post'],
        matrix: ['axes', 'stages'],
        axes: ['axis'],
        axis: ['name', 'values'],
        post: ['always'],
    ]
}

// What stands in a block, in its order: directives with their arguments.
class Reader {
    String kind
    Map variables = [:]
    List found = []
    def methodMissing(String name, args) {
        if (!(name in Known.BLOCKS[kind])) { throw new IllegalArgumentException("$kind has no $name") }
        found << [name, args as List]
    }
    def propertyMissing(String name) {
        if (kind == 'pipeline' && name in ['any', 'none']) { return name }
        throw new IllegalArgumentException("$kind: $name")
    }
    static List read(String kind, Closure block) {
        def reader = new Reader(kind: kind)
        block.delegate = reader
        block.resolveStrategy = Closure.DELEGATE_ONLY
        block()
        reader.found
    }
    static Closure one(List found, String name) { found.find { it[0] == name }?.getAt(1)?.last() }
}

class Steps {
    Map variables
    File folder
    static boolean failed = false
    static Map stashes = [:]
    static boolean dry = !System.getenv('RUN_ID')
    static int number = 0
    def propertyMissing(String name) {
        if (!variables.containsKey(name)) { throw new IllegalArgumentException("no variable $name") }
        variables[name]
    }
    void sh(String script) {
        if (dry) {
            new File(folder, "sh-${number++}.sh").text = script.startsWith('#!') ? script : "#!/bin/sh\n$script\n"
            return
        }
        def file = File.createTempFile('step', '.sh', folder.parentFile)
        file.text = script
        def command = script.startsWith('#!') ? ['bash', file.path] : ['sh', '-xe', file.path]
        def builder = new ProcessBuilder(command).directory(folder).inheritIO()
        builder.environment().putAll(variables)
        if (builder.start().waitFor() != 0) { throw new RuntimeException('script returned another exit code than 0') }
    }
    void catchError(Map options, Closure block) {
        try { run(block) } catch (RuntimeException wrong) {
            println "$options.stageResult: $wrong.message"
            failed = true
        }
    }
    void stash(Map options) {
        def source = new File(folder, options.includes - '/**')
        stashes[options.name] = [source.name, source.exists() ? File.createTempDir() : null]
        if (source.exists()) { new AntBuilder().copy(todir: stashes[options.name][1], quiet: true) { fileset(dir: source) } }
    }
    void unstash(String name) {
        def (place, kept) = stashes[name]
        if (kept) { new AntBuilder().copy(todir: new File(folder, place), quiet: true) { fileset(dir: kept) } }
    }
    void junit(Map options) {
        if (dry) { return }
        def file = new File(folder, options.testResults)
        if (!file.exists() && options.allowEmptyResults) { return }
        if (new XmlSlurper().parse(file).testsuite.isEmpty()) { throw new RuntimeException("$file: no test suite") }
    }
    void archiveArtifacts(Map options) {
        if (dry) { return }
        if (!options.allowEmptyArchive && !new File(folder, options.artifacts - '/**').exists()) { throw new RuntimeException('nothing to keep') }
    }
    void run(Closure block) {
        block.delegate = this
        block.resolveStrategy = Closure.DELEGATE_ONLY
        block()
    }
}

class Player {
    File folder
    void stages(Closure block, Map variables) {
        Reader.read('stages', block).each { stage(it[1][0], it[1][1], variables) }
    }
    void stage(String name, Closure block, Map variables) {
        println "== $name ${variables.PART ?: ''}"
        def found = Reader.read('stage', block)
        def steps = new Steps(variables: variables, folder: folder)
        try {
            if (Reader.one(found, 'matrix')) { matrix(Reader.one(found, 'matrix'), variables) }
            if (Reader.one(found, 'steps')) { steps.run(Reader.one(found, 'steps')) }
        } finally {
            def post = Reader.one(found, 'post')
            if (post) { steps.run(Reader.one(Reader.read('post', post), 'always')) }
        }
    }
    void matrix(Closure block, Map variables) {
        def found = Reader.read('matrix', block)
        def axes = Reader.read('axes', Reader.one(found, 'axes'))
        assert axes.size() == 1
        def axis = Reader.read('axis', axes[0][1][0]).collectEntries { [it[0], it[1]] }
        axis.values.each { stages(Reader.one(found, 'stages'), variables + [(axis.name[0]): it]) }
    }
}

def given = args.drop(2).collectEntries { it.split('=', 2) as List }
def text = new File(args[0])
def shell = new GroovyShell(new Binding())
def script = shell.parse(text)
script.metaClass.pipeline = { Closure block ->
    def found = Reader.read('pipeline', block)
    Reader.read('options', Reader.one(found, 'options'))
    def variables = [BUILD_NUMBER: System.getenv('RUN_ID')]
    Reader.read('parameters', Reader.one(found, 'parameters')).each { kind, values ->
        def options = values[0]
        assert options.description
        variables[options.name] = kind == 'choice' ? options.choices[0] : options.defaultValue
    }
    given.each { name, value ->
        if (!variables.containsKey(name)) { throw new IllegalArgumentException("no parameter $name") }
        variables[name] = value
    }
    new Player(folder: new File(args[1]).canonicalFile).stages(Reader.one(found, 'stages'), variables)
}
try { script.run() } catch (RuntimeException wrong) {
    println "FAILURE: $wrong.message"
    System.exit(1)
}
System.exit(Steps.failed ? 1 : 0)
