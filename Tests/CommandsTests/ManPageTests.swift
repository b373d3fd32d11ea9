import TakeFiles
import Testing

@testable import Commands

/// The texts for people say of the commands what there is.
@Suite struct ManPageTests {
    private func text(_ path: String) throws -> String {
        let top = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
        return String(decoding: try FileSystem().contents("\(top)/\(path)"), as: UTF8.self)
    }

    @Test func `fieldfare(1) describes every command, and no other`() throws {
        let described = try text("deploy/man/fieldfare.1").matches(of: /\n\.It Cm ([a-z-]+)/).map {
            String($0.output.1)
        }
        #expect(Set(described) == Fieldfare.commandNames)
    }

    @Test(arguments: Fieldfare.commandNames.sorted())
    func `fieldfare(1) names every option of a command`(command: String) throws {
        let page = try text("deploy/man/fieldfare.1")
        let help = run([command, "--help"]).output.joined(separator: "\n")
        let options = help.matches(of: /\n +(?:-h, )?--([a-z-]+)/).map { String($0.output.1) }
        #expect(!options.isEmpty)
        for option in Set(options) where option != "no" { #expect(page.contains("Fl Fl \(option)"), "--\(option)") }
    }

    @Test(arguments: [
        "README.md", "deploy/man/fieldfare.1", "deploy/man/fieldfare-recorder.8", "deploy/man/fieldfare.toml.5",
        "deploy/man/fieldfare-takes.5", "deploy/man/fieldfare-stores.7",
    ])
    func `a text names only commands that there are`(path: String) throws {
        let named = try text(path).matches(of: /[`\n l]fieldfare ([a-z]+)/).map { String($0.output.1) }
        #expect(!named.isEmpty)
        #expect(Set(named).subtracting(Fieldfare.commandNames) == [])
    }

    @Test func `the README has fewer than 200 lines`() throws {
        #expect(try text("README.md").split(separator: "\n", omittingEmptySubsequences: false).count <= 200)
    }
}
