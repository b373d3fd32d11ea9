import Foundation
import Settings
import TestBench
import Testing

@testable import Commands

@Suite struct OccupiedPlacesTests {
    private let place = TestFolder()
    private var folder: String { place.path }

    @Test func `a file in the place of a socket or a folder is named, and nothing else`() throws {
        place.write("", to: "shadow")
        try FileManager.default.createSymbolicLink(atPath: "\(folder)/link", withDestinationPath: folder)
        func problems(_ text: String) -> [String] {
            let (settings, problems) = Settings.parse(text, file: "fieldfare.toml")
            #expect(problems.isEmpty)
            return OccupiedPlaces.problems(settings).map { $0.replacing(folder, with: "") }
        }
        let free = """
            [control]
            socket = "\(folder)/none"
            [library]
            socket = "\(folder)/none/either"
            directory = "\(folder)/link"
            [takes]
            directory = "\(folder)"
            [outbox.folder]
            path = "\(folder)/not/there"
            """
        #expect(problems(free) == [])
        #expect(
            problems(
                """
                [control]
                socket = "\(folder)/shadow"
                [library]
                socket = "\(folder)/link"
                directory = "\(folder)/shadow"
                [takes]
                directory = "\(folder)/shadow"
                [outbox.folder]
                path = "\(folder)/shadow"
                """) == [
                    "control.socket: /shadow is there, and no socket: name a path where nothing is",
                    "library.socket: /link is there, and no socket: name a path where nothing is",
                    "takes.directory: /shadow is not a folder: name a folder, or an unused path",
                    "library.directory: /shadow is not a folder: name a folder, or an unused path",
                    "outbox.folder.path: /shadow is not a folder: name a folder, or an unused path",
                ])
    }
}
