import Takes

/// The forms that only this file uses.
extension Form where Value == CardReference {
    static var card: Form {
        let examples = ["auto", "usb:VID:PID[:SERIAL]", "path:USB-PATH", "card:ALSA-ID", "pcm:ANY-ALSA-NAME"]
        let text = Form<String>.text("") { CardReference($0) != nil }
        return Form(allowed: examples.map { quoted($0) }) { node, reader in
            guard case .understood(let text) = text.read(node, &reader), let card = CardReference(text) else {
                return .refused
            }
            return .understood(card)
        }
    }
}

extension Form where Value == ChannelChoice {
    static var channels: Form {
        .word("live", .live) | Form<Int>.integer(1...32, "a number").map { .first($0) } | numberedChannels
    }

    /// Channel numbers, all different.
    private static var numberedChannels: Form {
        let range = 1...ChannelChoice.greatestNumber
        return Form(allowed: ["an array of channels such as [2] or [1, 3]"]) { node, reader in
            let document = reader.document
            guard document.nodes[node].value == .array else { return .refused }
            var numbers: [Int] = []
            for child in document.children(of: node) {
                guard case .integer(let value) = document.nodes[child].value, let number = Int(exactly: value),
                    range.contains(number)
                else {
                    let limits = "from \(range.lowerBound) to \(range.upperBound)"
                    reader.report(
                        node, "found an array with \(reader.found(child)): allowed are channel numbers \(limits)")
                    return .reported
                }
                guard !numbers.contains(number) else {
                    reader.report(node, "found an array with channel \(number) twice: allowed is each channel once")
                    return .reported
                }
                numbers.append(number)
            }
            guard !numbers.isEmpty else {
                reader.report(node, "found an empty array: allowed is at least one channel, such as [2]")
                return .reported
            }
            return .understood(.numbered(numbers))
        }
    }
}

extension Form where Value == Cutoff {
    static var automatic: Form { .word("auto", .automatic) }
    static var off: Form { .word("off", .off) }
    /// The highest is 0.45 of the highest sample rate.
    static var hertz: Form { Form<Double>.number(20...345_600, "a cutoff").map(Cutoff.hertz) }
}

extension Form where Value == UploadWindow {
    static var window: Form {
        Form(allowed: ["\"always\"", "two different times such as \"22:00-06:00\""]) {
            guard case .string(let text) = $0 else { return nil }
            return UploadWindow(text)
        }
    }
}

extension Form where Value == [HoursOfDay] {
    static var hours: Form {
        let each =
            "allowed are two different times such as \"05:00-07:30\"; a whole day is \"00:00-12:00\" and \"12:00-24:00\""
        return Form(allowed: ["an array of hours such as [\"05:00-07:30\"], at most 24"]) { node, reader in
            let document = reader.document
            let nodes = document.children(of: node)
            guard document.nodes[node].value == .array, nodes.count <= 24 else { return .refused }
            // The other hours stay in force, because a typing error in one of them must not cost a whole night.
            return .understood(
                nodes.compactMap { node in
                    if case .string(let text) = document.nodes[node].value, let hours = HoursOfDay(text) {
                        return hours
                    }
                    reader.report(node, "found \(reader.found(node)): \(each)")
                    return nil
                })
        }
    }
}

extension Form where Value == ListenAddress {
    static var listenAddress: Form {
        Form(allowed: ["an address and a port such as \"0.0.0.0:80\" or \"[::]:80\""]) {
            guard case .string(let text) = $0 else { return nil }
            return ListenAddress(text)
        }
    }
}

extension Form where Value == String {
    static var kitName: Form {
        .text("a name of a-z, 0-9 and '-', at most 64 characters long", where: TakeName.isKitName)
    }

    static var timeZone: Form {
        .text("the name of a time zone that this machine knows, such as \"Europe/Berlin\"", where: TimeZoneFile.isThere)
    }

    static var path: Form {
        .text("an absolute path") { $0.hasPrefix("/") && $0.utf8.count < 4096 }
    }

    /// The file's name says its unit.
    static var voltageFile: Form {
        .text("a path below /sys that ends in in_voltageN_raw, in_voltageN_input, inN_input or voltage_now") { text in
            guard text.hasPrefix("/sys/"), !text.contains("/../"), text.utf8.count < 4096,
                let name = text.split(separator: "/").last
            else { return false }
            let channel = ["_raw", "_input"].first { name.hasSuffix($0) }.map { name.dropLast($0.count) }
            let isHardwareMonitor = name.hasSuffix("_input") && channel?.wholeMatch(of: /in[0-9]+/) != nil
            return name == "voltage_now" || channel?.hasPrefix("in_voltage") == true || isHardwareMonitor
        }
    }

    static var takesFolder: Form {
        .text("an absolute path, \"stick\" or \"stick-or-internal\"") { text in
            (text.hasPrefix("/") && text.utf8.count < 4096) || ["stick", "stick-or-internal"].contains(text)
        }
    }

    /// `sockaddr_un` limits the length.
    static var socketPath: Form {
        .text("an absolute path of at most 107 bytes") { $0.hasPrefix("/") && $0.utf8.count <= 107 }
    }

    static var url: Form {
        .text("a URL that begins with https:// or http://") { text in
            let schemes = ["https://", "http://"]
            return !text.utf8.contains(0x20)
                && schemes.contains { text.hasPrefix($0) && text.dropFirst($0.count).first.map { $0 != "/" } ?? false }
        }
    }

    /// The store checks the URL and refuses a password in it, because the store does not show it.
    static var sftp: Form {
        .text("a URL such as \"sftp://kit@archive.example.org/recordings\"") { text in
            text.hasPrefix("sftp://") && !text.utf8.contains(0x20) && text.utf8.count < 4096
        }
    }

    static var bucket: Form {
        .text("a bucket's name") { !$0.isEmpty && $0.utf8.count <= 222 && !$0.utf8.contains(UInt8(ascii: "/")) }
    }

    static var prefix: Form {
        .text("text of at most 500 bytes") { $0.utf8.count <= 500 }
    }

    static var remote: Form {
        .text("a remote and its path, such as \"dropbox:recordings\"") { text in
            text.firstIndex(of: ":").map { $0 > text.startIndex } ?? false
        }
    }

    static var ledName: Form {
        .text("a name below /sys/class/leds") {
            !["", ".", ".."].contains($0) && $0.utf8.count <= 255 && !$0.utf8.contains(UInt8(ascii: "/"))
        }
    }
}
