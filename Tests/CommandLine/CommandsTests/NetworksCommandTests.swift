import Files
import Glibc
import TestBench
import Testing

@testable import Commands

@Suite final class NetworksCommandTests {
    private let scratch = TestFolder()
    private let files = FileSystem()
    private var list: String { scratch.path + "/wifi.toml" }
    private var folder: String { scratch.path + "/profiles" }

    private func write(_ text: String) throws {
        let file = try files.create(list, isNew: true)
        try files.write(Array(text.utf8), to: file, at: 0)
    }

    @Test func `each network becomes a profile that its owner alone may read, and no password is printed`() throws {
        try write("country = \"DE\"\n[home]\nname = \"Waldhütte 5\"\npassword = \"correct horse\"\n[open]\n")
        _ = try files.makeFolder(folder)
        let (status, output, complaints) = run(["networks", list, "--into", folder], access: bareMachine)
        #expect((status, output, complaints) == (0, ["Waldhütte 5: nothing is wrong", "open: nothing is wrong"], []))
        #expect(
            try files.entries(folder).sorted() == ["country", "kit-1-home.nmconnection", "kit-2-open.nmconnection"])
        #expect(try files.contents("\(folder)/country") == Array("DE\n".utf8))
        let profile = try files.contents("\(folder)/kit-1-home.nmconnection")
        #expect(String(decoding: profile, as: UTF8.self).contains("psk=correct horse\n"))
        var attributes = stat()
        _ = unsafe stat("\(folder)/kit-1-home.nmconnection", &attributes)
        #expect(attributes.st_mode & 0o777 == 0o600)
    }

    @Test func `a list with a mistake writes nothing`() throws {
        try write("[home]\n[school]\npassword = \"short\"\n")
        _ = try files.makeFolder(folder)
        let found = run(["networks", list, "--into", folder, "--json"], access: bareMachine)
        #expect(found.status == 78)
        #expect(found.output.first?.contains(#""networks":["home"]"#) == true)
        #expect(found.output.first?.contains("school.password: has 5 characters") == true)
        #expect(try files.entries(folder) == [])
    }

    @Test func `a list or a folder that is not there is named`() throws {
        let missing = run(["networks", list], access: bareMachine)
        #expect(missing.status == 74 && missing.complaints.first?.contains(list) == true)
        try write("[home]\n")
        let nowhere = run(["networks", list, "--into", folder], access: bareMachine)
        #expect(nowhere.status == 74)
        #expect(nowhere.complaints.first?.contains("\(folder)/kit-1-home.nmconnection.new") == true)
    }
}
