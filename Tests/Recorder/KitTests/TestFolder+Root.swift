import TestBench

extension TestFolder {
    /// The root of a machine, with `/run/fieldfare` and the id of a boot.
    static func root() -> TestFolder {
        let root = TestFolder()
        root.makeFolder("run/fieldfare")
        root.write("0b0c\n", to: "proc/sys/kernel/random/boot_id")
        return root
    }

    /// The names in `/run/fieldfare`.
    var run: [String] { names(in: "run/fieldfare") }
}
