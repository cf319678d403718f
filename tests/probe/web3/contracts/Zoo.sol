// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

/// Emits an event of every shape that a log can have.
contract Zoo {
    struct Point {
        int256 x;
        uint8[] weights;
        string label;
    }

    event Plain(uint256 amount, address by);
    event Indexed(address indexed from, uint256 indexed id, bytes32 indexed tag, string note);
    event Hashed(string indexed name, uint256[] indexed list, bytes data);
    event Nested(Point point, Point[2] pair, bool[] flags, bytes3 code);
    event Same(uint256 amount);
    event Same(address who);
    event Sized(int8 small, int256 large, uint256 huge, bytes32 word, bytes1 one);
    event Spoken(string said, bytes raw);
    event Long(string said, uint256[] list);
    event Odd(bytes indexed raw, Point indexed point, int256 indexed number);
    event Secret(uint256 indexed id, uint256 amount) anonymous;

    function plain(uint256 amount) external {
        emit Plain(amount, msg.sender);
    }

    function many(uint256 count) external {
        for (uint256 at = 0; at < count; at++) {
            emit Plain(at, msg.sender);
        }
    }

    function indexed_(address from, uint256 id, bytes32 tag, string calldata note) external {
        emit Indexed(from, id, tag, note);
    }

    function hashed() external {
        uint256[] memory list = new uint256[](2);
        (list[0], list[1]) = (1, 2);
        emit Hashed("tocsin", list, hex"c0ffee");
    }

    function nested() external {
        uint8[] memory weights = new uint8[](2);
        (weights[0], weights[1]) = (3, 4);
        Point memory point = Point(-5, weights, unicode"Glocke ü");
        bool[] memory flags = new bool[](3);
        flags[1] = true;
        emit Nested(point, [point, point], flags, 0x010203);
    }

    function same() external {
        emit Same(7);
        emit Same(msg.sender);
    }

    function secret(uint256 id) external {
        emit Secret(id, 2 ** 255);
    }

    function odd(int256 number) external {
        emit Odd(hex"c0ffee", Point(1, new uint8[](0), "p"), number);
    }

    function sized() external {
        emit Sized(-128, type(int256).min, type(uint256).max, bytes32("bell"), 0xff);
    }

    function spoken(bytes calldata said) external {
        emit Spoken(string(said), said);
    }

    function long(uint256 letters, uint256 values) external {
        bytes memory said = new bytes(letters);
        for (uint256 at = 0; at < letters; at++) {
            said[at] = "x";
        }
        emit Long(string(said), new uint256[](values));
    }
}

/// Emits whatever bytes it is told as the data of a log, by topics that it is told.
contract Forger {
    function log0_(bytes calldata said) external {
        bytes memory copy = said;
        assembly {
            log0(add(copy, 32), mload(copy))
        }
    }

    function log1_(bytes32 topic, bytes calldata said) external {
        bytes memory copy = said;
        assembly {
            log1(add(copy, 32), mload(copy), topic)
        }
    }
}
